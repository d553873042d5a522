# The device code, compiled by nvcc when it is there and built into the library (src/gpu/kernel_image.cpp). Without it the library still
# uses GPUs, but decodes on the host.
set(ZARRIVE_GPU_KERNELS AUTO CACHE STRING "Build the GPU kernels: AUTO (when nvcc is found), ON or OFF")
set_property(CACHE ZARRIVE_GPU_KERNELS PROPERTY STRINGS AUTO ON OFF)

if(ZARRIVE_GPU_KERNELS)
  find_program(ZARRIVE_NVCC nvcc PATHS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(ZARRIVE_NVCC)
endif()
if(NOT ZARRIVE_GPU_KERNELS)
  message(STATUS "GPU kernels: not built (ZARRIVE_GPU_KERNELS=${ZARRIVE_GPU_KERNELS})")
elseif(ZARRIVE_NVCC)
  # Machine code for the architectures that differ, PTX for what comes after them. nvcc says which it knows.
  execute_process(COMMAND ${ZARRIVE_NVCC} --list-gpu-code OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(arguments)
  set(newest)
  foreach(architecture 75 80 86 89 90 100 120)
    if(known MATCHES "sm_${architecture}([^0-9]|$)")
      list(APPEND arguments -gencode arch=compute_${architecture},code=sm_${architecture})
      set(newest ${architecture})
    endif()
  endforeach()
  if(NOT newest)
    message(FATAL_ERROR "${ZARRIVE_NVCC} --list-gpu-code names no architecture that is known here: ${known}")
  endif()
  list(APPEND arguments -gencode arch=compute_${newest},code=compute_${newest})
  set(ZARRIVE_KERNEL_IMAGE ${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin)
  file(GLOB ZARRIVE_KERNEL_HEADERS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/gpu/kernels/*.hpp)
  # 13 s on one core, 1 MiB. (--compress-mode=size would make it a fifth, but asks for newer drivers than we do.)
  # No fused multiply-adds: results are to be those of the host, bit by bit.
  add_custom_command(OUTPUT ${ZARRIVE_KERNEL_IMAGE}
    COMMAND ${ZARRIVE_NVCC} -std=c++20 -O3 -fmad=false -fatbin ${arguments} -I ${CMAKE_CURRENT_SOURCE_DIR}/src
      -o ${ZARRIVE_KERNEL_IMAGE} ${CMAKE_CURRENT_SOURCE_DIR}/src/gpu/kernels.cu
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/gpu/kernels.cu ${ZARRIVE_KERNEL_HEADERS}
    COMMENT "Compiling the GPU kernels" VERBATIM)
  set_source_files_properties(src/gpu/kernel_image.cpp PROPERTIES
    COMPILE_DEFINITIONS ZARRIVE_KERNEL_IMAGE="${ZARRIVE_KERNEL_IMAGE}" OBJECT_DEPENDS ${ZARRIVE_KERNEL_IMAGE}
    SKIP_PRECOMPILE_HEADERS ON)
  message(STATUS "GPU kernels: built by ${ZARRIVE_NVCC}")
elseif(ZARRIVE_GPU_KERNELS STREQUAL "AUTO")
  message(STATUS "GPU kernels: not built, nvcc was not found")
else()
  message(FATAL_ERROR "ZARRIVE_GPU_KERNELS is ON, but nvcc was not found (on PATH, in CUDA_PATH, CUDA_HOME, /usr/local/cuda)")
endif()
